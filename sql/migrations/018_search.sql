-- Up Migration
-- Search. Words as PostgreSQL's own parser finds them, without a language; scripts that write no spaces (and Korean, whose
-- words carry their particles) are split into single characters, which a search then asks for as a phrase.
-- Not pg_trgm: it has no use for the two characters that most Chinese and Japanese words have.
create function reporting.spaced_text(plain_text text) returns text
language sql immutable parallel safe
return case
  when plain_text ~ '[^\u0001-\u024f]' then regexp_replace(translate(plain_text,
    '،؛؟।。、，！？：；（）「」『』《》„“”‘’«»–—…', '                              '),
    '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])',
    ' \1 ', 'g')
  else plain_text end;
comment on function reporting.spaced_text(text) is 'Of searches before reporting.search(); kept for the index of then and for queries of your own.';

-- A tsvector holds at most 1 MB of words (PostgreSQL documentation, Limitations of text search): with one longer text every
-- search would fail, and the index could not be made. Words of 100,000 characters stay below it, whatever they are.
create function reporting.comment_words(comment_text text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple', reporting.spaced_text(left(comment_text, 100000)));
comment on function reporting.comment_words(text) is 'Of searches before reporting.search(), which cuts words otherwise; kept for the index of then (comments_words) and for queries of your own.';

create function reporting.search_query(query text) returns tsquery
language sql immutable parallel safe
return case
  when query ~ '"' then websearch_to_tsquery('simple', reporting.spaced_text(query))
  else regexp_replace(websearch_to_tsquery('simple', reporting.spaced_text(regexp_replace(query,
      '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)',
      ' "\1" ', 'g')))::text,
    '([^0-9''])''(?= |\)|$)', '\1'':*', 'g')::tsquery -- a number means itself: 3 does not find 30
  end;
comment on function reporting.search_query(text) is 'Of searches before reporting.search(); kept for queries of your own.';

create type reporting.found_comment as (
  rank real, organization_id text, document_id text, annotation_id text, comment_id bigint, author_user_id text,
  author_name text, comment_text text, last_updated timestamptz
);
comment on type reporting.found_comment is 'One row of reporting.search_comments().';
comment on column reporting.found_comment.rank is 'As reporting.search() has it; 0 where more than 10,000 comments match.';
comment on column reporting.found_comment.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.found_comment.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.found_comment.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.found_comment.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.found_comment.author_user_id is 'userId of the author.';
comment on column reporting.found_comment.author_name is 'The author''s current name.';
comment on column reporting.found_comment.comment_text is 'Plain text of the comment.';
comment on column reporting.found_comment.last_updated is 'lastUpdated of the service (the service''s clock).';

-- Search again: every filter before any limit, letter case and accents alike on every server, prefixes, an honest count, pages.
-- Words are cut by this migration's own tables, not by PostgreSQL's parser, whose letters and lower case are those of the
-- server's locale. The index of before this (comments_words) stays until `collab-sync migrate --search-index on` has made
-- the new one, and serves nothing meanwhile (docs/decisions).

-- What lower() of the server's locale leaves (all but A to Z where it is C) is done by translate(), which is slow: so behind
-- a condition each.
create function reporting.folded_text(plain_text text) returns text
language plpgsql immutable strict parallel safe
as $$
declare
  t text := left(plain_text, 100000);
begin
  if octet_length(t) = length(t) then
    t := lower(t collate "C");
  else
    t := lower(lower(t collate "default") collate "C");
    -- Most Russian and Chinese texts are in normal form: looking is cheaper than making it.
    if t ~ '[^\u0001-\u007f\u0430-\u0438\u043a-\u044f\u3001\u3002\u4e00-\u9fff]' then
      t := lower(regexp_replace(normalize(t, nfkd),
        '[\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]+', '', 'g') collate "C");
    end if;
    if t ~ '[\u00df-\u0289\u0391-\u03a9\u03c2\u0400-\u042f\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u1100-\u11ff\u3099\u309a\u00c6\u00d0\u00d8\u00de\u0110\u0126\u0141\u014a\u0152\u0166\u0181-\u018b\u018e-\u0198\u019c-\u019f\u01a2-\u01a9\u01ac-\u01ae\u01b1-\u01b8\u01bc\u01e4\u01f6-\u01f7\u021c\u0220-\u0224\u023a-\u023e\u0241-\u024e\u0370-\u0372\u0376\u037f\u03cf\u03d8-\u03ee\u03f7\u03fa\u03fd-\u03ff\u0460-\u0474\u0478-\u0480\u048a-\u04c0\u04c3-\u04cd\u04d4\u04d8\u04e0\u04e8\u04f6\u04fa-\u052e\u0531-\u0556\u10a0-\u10c7\u10cd\u13a0-\u13f5\u1c89\u1c90-\u1cba\u1cbd-\u1cbf\u1e9e\u1efa-\u1efe\u2132\u2183\u2c00-\u2c2f\u2c60-\u2c64\u2c67-\u2c72\u2c75\u2c7e-\u2ce2\u2ceb-\u2ced\u2cf2\ua640-\ua66c\ua680-\ua69a\ua722-\ua72e\ua732-\ua76e\ua779-\ua786\ua78b-\ua78d\ua790-\ua792\ua796-\ua7dc\ua7f5\U00010400-\U00010427\U000104b0-\U000104d3\U00010570-\U00010595\U00010c80-\U00010cb2\U00010d50-\U00010d65\U000118a0-\U000118bf\U00016e40-\U00016e5f\U00016ea0-\U00016eb8\U0001e900-\U0001e921]' then
      -- Letters of Hangul and marks of kana are no accents.
      if t ~ '[\u1100-\u11ff\u3099\u309a]' then
        t := normalize(t, nfc);
      end if;
      if t ~ '[\u0391-\u03a9\u0400-\u042f]' then
        t := translate(t, 'ЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ', 'ђєѕіјљњћџабвгдежзиклмнопрстуфхцчшщъыьэюяαβγδεζηθικλμνξοπρστυφχψω');
      end if;
      if t ~ '[\u00c6\u00d0\u00d8\u00de\u0110\u0126\u0141\u014a\u0152\u0166\u0181-\u018b\u018e-\u0198\u019c-\u019f\u01a2-\u01a9\u01ac-\u01ae\u01b1-\u01b8\u01bc\u01e4\u01f6-\u01f7\u021c\u0220-\u0224\u023a-\u023e\u0241-\u024e\u0370-\u0372\u0376\u037f\u03cf\u03d8-\u03ee\u03f7\u03fa\u03fd-\u03ff\u0460-\u0474\u0478-\u0480\u048a-\u04c0\u04c3-\u04cd\u04d4\u04d8\u04e0\u04e8\u04f6\u04fa-\u052e\u0531-\u0556\u10a0-\u10c7\u10cd\u13a0-\u13f5\u1c89\u1c90-\u1cba\u1cbd-\u1cbf\u1e9e\u1efa-\u1efe\u2132\u2183\u2c00-\u2c2f\u2c60-\u2c64\u2c67-\u2c72\u2c75\u2c7e-\u2ce2\u2ceb-\u2ced\u2cf2\ua640-\ua66c\ua680-\ua69a\ua722-\ua72e\ua732-\ua76e\ua779-\ua786\ua78b-\ua78d\ua790-\ua792\ua796-\ua7dc\ua7f5\U00010400-\U00010427\U000104b0-\U000104d3\U00010570-\U00010595\U00010c80-\U00010cb2\U00010d50-\U00010d65\U000118a0-\U000118bf\U00016e40-\U00016e5f\U00016ea0-\U00016eb8\U0001e900-\U0001e921]' then
        t := lower(translate(t,
          'ÆÐØÞĐĦŁŊŒŦƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƢƤƦƧƩƬƮƱƲƳƵƷƸƼǤǶǷȜȠȢȤȺȻȽȾɁɃɄɅɆɈɊɌɎͰͲͶͿϏϘϚϜϞϠϢϤϦϨϪϬϮϷϺϽϾϿѠѢѤѦѨѪѬѮѰѲѴѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӃӅӇӉӋӍӔӘӠӨӶӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹႺႻႼႽႾႿჀჁჂჃჄჅჇჍᎠᎡᎢᎣᎤᎥᎦᎧᎨᎩᎪᎫᎬᎭᎮᎯᎰᎱᎲᎳᎴᎵᎶᎷᎸᎹᎺᎻᎼᎽᎾᎿᏀᏁᏂᏃᏄᏅᏆᏇᏈᏉᏊᏋᏌᏍᏎᏏᏐᏑᏒᏓᏔᏕᏖᏗᏘᏙᏚᏛᏜᏝᏞᏟᏠᏡᏢᏣᏤᏥᏦᏧᏨᏩᏪᏫᏬᏭᏮᏯᏰᏱᏲᏳᏴᏵᲉᲐᲑᲒᲓᲔᲕᲖᲗᲘᲙᲚᲛᲜᲝᲞᲟᲠᲡᲢᲣᲤᲥᲦᲧᲨᲩᲪᲫᲬᲭᲮᲯᲰᲱᲲᲳᲴᲵᲶᲷᲸᲹᲺᲽᲾᲿẞỺỼỾℲↃⰀⰁⰂⰃⰄⰅⰆⰇⰈⰉⰊⰋⰌⰍⰎⰏⰐⰑⰒⰓⰔⰕⰖⰗⰘⰙⰚⰛⰜⰝⰞⰟⰠⰡⰢⰣⰤⰥⰦⰧⰨⰩⰪⰫⰬⰭⰮⰯⱠⱢⱣⱤⱧⱩⱫⱭⱮⱯⱰⱲⱵⱾⱿⲀⲂⲄⲆⲈⲊⲌⲎⲐⲒⲔⲖⲘⲚⲜⲞⲠⲢⲤⲦⲨⲪⲬⲮⲰⲲⲴⲶⲸⲺⲼⲾⳀⳂⳄⳆⳈⳊⳌⳎⳐⳒⳔⳖⳘⳚⳜⳞⳠⳢⳫⳭⳲꙀꙂꙄꙆꙈꙊꙌꙎꙐꙒꙔꙖꙘꙚꙜꙞꙠꙢꙤꙦꙨꙪꙬꚀꚂꚄꚆꚈꚊꚌꚎꚐꚒꚔꚖꚘꚚꜢꜤꜦꜨꜪꜬꜮꜲꜴꜶꜸꜺꜼꜾꝀꝂꝄꝆꝈꝊꝌꝎꝐꝒꝔꝖꝘꝚꝜꝞꝠꝢꝤꝦꝨꝪꝬꝮꝹꝻꝽꝾꞀꞂꞄꞆꞋꞍꞐꞒꞖꞘꞚꞜꞞꞠꞢꞤꞦꞨꞪꞫꞬꞭꞮꞰꞱꞲꞳꞴꞶꞸꞺꞼꞾꟀꟂꟄꟅꟆꟇꟉꟋꟌ꟎Ꟑ꟒꟔ꟖꟘꟚꟜꟵ𐐀𐐁𐐂𐐃𐐄𐐅𐐆𐐇𐐈𐐉𐐊𐐋𐐌𐐍𐐎𐐏𐐐𐐑𐐒𐐓𐐔𐐕𐐖𐐗𐐘𐐙𐐚𐐛𐐜𐐝𐐞𐐟𐐠𐐡𐐢𐐣𐐤𐐥𐐦𐐧𐒰𐒱𐒲𐒳𐒴𐒵𐒶𐒷𐒸𐒹𐒺𐒻𐒼𐒽𐒾𐒿𐓀𐓁𐓂𐓃𐓄𐓅𐓆𐓇𐓈𐓉𐓊𐓋𐓌𐓍𐓎𐓏𐓐𐓑𐓒𐓓𐕰𐕱𐕲𐕳𐕴𐕵𐕶𐕷𐕸𐕹𐕺𐕼𐕽𐕾𐕿𐖀𐖁𐖂𐖃𐖄𐖅𐖆𐖇𐖈𐖉𐖊𐖌𐖍𐖎𐖏𐖐𐖑𐖒𐖔𐖕𐲀𐲁𐲂𐲃𐲄𐲅𐲆𐲇𐲈𐲉𐲊𐲋𐲌𐲍𐲎𐲏𐲐𐲑𐲒𐲓𐲔𐲕𐲖𐲗𐲘𐲙𐲚𐲛𐲜𐲝𐲞𐲟𐲠𐲡𐲢𐲣𐲤𐲥𐲦𐲧𐲨𐲩𐲪𐲫𐲬𐲭𐲮𐲯𐲰𐲱𐲲𐵐𐵑𐵒𐵓𐵔𐵕𐵖𐵗𐵘𐵙𐵚𐵛𐵜𐵝𐵞𐵟𐵠𐵡𐵢𐵣𐵤𐵥𑢠𑢡𑢢𑢣𑢤𑢥𑢦𑢧𑢨𑢩𑢪𑢫𑢬𑢭𑢮𑢯𑢰𑢱𑢲𑢳𑢴𑢵𑢶𑢷𑢸𑢹𑢺𑢻𑢼𑢽𑢾𑢿𖹀𖹁𖹂𖹃𖹄𖹅𖹆𖹇𖹈𖹉𖹊𖹋𖹌𖹍𖹎𖹏𖹐𖹑𖹒𖹓𖹔𖹕𖹖𖹗𖹘𖹙𖹚𖹛𖹜𖹝𖹞𖹟𖺠𖺡𖺢𖺣𖺤𖺥𖺦𖺧𖺨𖺩𖺪𖺫𖺬𖺭𖺮𖺯𖺰𖺱𖺲𖺳𖺴𖺵𖺶𖺷𖺸𞤀𞤁𞤂𞤃𞤄𞤅𞤆𞤇𞤈𞤉𞤊𞤋𞤌𞤍𞤎𞤏𞤐𞤑𞤒𞤓𞤔𞤕𞤖𞤗𞤘𞤙𞤚𞤛𞤜𞤝𞤞𞤟𞤠𞤡',
          'æðøþđħłŋœŧɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵƣƥʀƨʃƭʈʊʋƴƶʒƹƽǥƕƿȝƞȣȥⱥȼƚⱦɂƀʉʌɇɉɋɍɏͱͳͷϳϗϙϛϝϟϡϣϥϧϩϫϭϯϸϻͻͼͽѡѣѥѧѩѫѭѯѱѳѵѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӄӆӈӊӌӎӕәӡөӷӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆⴀⴁⴂⴃⴄⴅⴆⴇⴈⴉⴊⴋⴌⴍⴎⴏⴐⴑⴒⴓⴔⴕⴖⴗⴘⴙⴚⴛⴜⴝⴞⴟⴠⴡⴢⴣⴤⴥⴧⴭꭰꭱꭲꭳꭴꭵꭶꭷꭸꭹꭺꭻꭼꭽꭾꭿꮀꮁꮂꮃꮄꮅꮆꮇꮈꮉꮊꮋꮌꮍꮎꮏꮐꮑꮒꮓꮔꮕꮖꮗꮘꮙꮚꮛꮜꮝꮞꮟꮠꮡꮢꮣꮤꮥꮦꮧꮨꮩꮪꮫꮬꮭꮮꮯꮰꮱꮲꮳꮴꮵꮶꮷꮸꮹꮺꮻꮼꮽꮾꮿᏸᏹᏺᏻᏼᏽᲊაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺჽჾჿßỻỽỿⅎↄⰰⰱⰲⰳⰴⰵⰶⰷⰸⰹⰺⰻⰼⰽⰾⰿⱀⱁⱂⱃⱄⱅⱆⱇⱈⱉⱊⱋⱌⱍⱎⱏⱐⱑⱒⱓⱔⱕⱖⱗⱘⱙⱚⱛⱜⱝⱞⱟⱡɫᵽɽⱨⱪⱬɑɱɐɒⱳⱶȿɀⲁⲃⲅⲇⲉⲋⲍⲏⲑⲓⲕⲗⲙⲛⲝⲟⲡⲣⲥⲧⲩⲫⲭⲯⲱⲳⲵⲷⲹⲻⲽⲿⳁⳃⳅⳇⳉⳋⳍⳏⳑⳓⳕⳗⳙⳛⳝⳟⳡⳣⳬⳮⳳꙁꙃꙅꙇꙉꙋꙍꙏꙑꙓꙕꙗꙙꙛꙝꙟꙡꙣꙥꙧꙩꙫꙭꚁꚃꚅꚇꚉꚋꚍꚏꚑꚓꚕꚗꚙꚛꜣꜥꜧꜩꜫꜭꜯꜳꜵꜷꜹꜻꜽꜿꝁꝃꝅꝇꝉꝋꝍꝏꝑꝓꝕꝗꝙꝛꝝꝟꝡꝣꝥꝧꝩꝫꝭꝯꝺꝼᵹꝿꞁꞃꞅꞇꞌɥꞑꞓꞗꞙꞛꞝꞟꞡꞣꞥꞧꞩɦɜɡɬɪʞʇʝꭓꞵꞷꞹꞻꞽꞿꟁꟃꞔʂᶎꟈꟊɤꟍ꟏ꟑꟓꟕꟗꟙꟛƛꟶ𐐨𐐩𐐪𐐫𐐬𐐭𐐮𐐯𐐰𐐱𐐲𐐳𐐴𐐵𐐶𐐷𐐸𐐹𐐺𐐻𐐼𐐽𐐾𐐿𐑀𐑁𐑂𐑃𐑄𐑅𐑆𐑇𐑈𐑉𐑊𐑋𐑌𐑍𐑎𐑏𐓘𐓙𐓚𐓛𐓜𐓝𐓞𐓟𐓠𐓡𐓢𐓣𐓤𐓥𐓦𐓧𐓨𐓩𐓪𐓫𐓬𐓭𐓮𐓯𐓰𐓱𐓲𐓳𐓴𐓵𐓶𐓷𐓸𐓹𐓺𐓻𐖗𐖘𐖙𐖚𐖛𐖜𐖝𐖞𐖟𐖠𐖡𐖣𐖤𐖥𐖦𐖧𐖨𐖩𐖪𐖫𐖬𐖭𐖮𐖯𐖰𐖱𐖳𐖴𐖵𐖶𐖷𐖸𐖹𐖻𐖼𐳀𐳁𐳂𐳃𐳄𐳅𐳆𐳇𐳈𐳉𐳊𐳋𐳌𐳍𐳎𐳏𐳐𐳑𐳒𐳓𐳔𐳕𐳖𐳗𐳘𐳙𐳚𐳛𐳜𐳝𐳞𐳟𐳠𐳡𐳢𐳣𐳤𐳥𐳦𐳧𐳨𐳩𐳪𐳫𐳬𐳭𐳮𐳯𐳰𐳱𐳲𐵰𐵱𐵲𐵳𐵴𐵵𐵶𐵷𐵸𐵹𐵺𐵻𐵼𐵽𐵾𐵿𐶀𐶁𐶂𐶃𐶄𐶅𑣀𑣁𑣂𑣃𑣄𑣅𑣆𑣇𑣈𑣉𑣊𑣋𑣌𑣍𑣎𑣏𑣐𑣑𑣒𑣓𑣔𑣕𑣖𑣗𑣘𑣙𑣚𑣛𑣜𑣝𑣞𑣟𖹠𖹡𖹢𖹣𖹤𖹥𖹦𖹧𖹨𖹩𖹪𖹫𖹬𖹭𖹮𖹯𖹰𖹱𖹲𖹳𖹴𖹵𖹶𖹷𖹸𖹹𖹺𖹻𖹼𖹽𖹾𖹿𖺻𖺼𖺽𖺾𖺿𖻀𖻁𖻂𖻃𖻄𖻅𖻆𖻇𖻈𖻉𖻊𖻋𖻌𖻍𖻎𖻏𖻐𖻑𖻒𖻓𞤢𞤣𞤤𞤥𞤦𞤧𞤨𞤩𞤪𞤫𞤬𞤭𞤮𞤯𞤰𞤱𞤲𞤳𞤴𞤵𞤶𞤷𞤸𞤹𞤺𞤻𞤼𞤽𞤾𞤿𞥀𞥁𞥂𞥃') collate "C");
      end if;
      -- Letters that no normal form takes apart.
      t := translate(replace(replace(replace(replace(t, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
        'øđðħıłŧŋƀɨɵʉς٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९', 'oddhiltnbiouσ012345678901234567890123456789');
    end if;
    if octet_length(t) > length(t) then
      t := regexp_replace(t, '[\u0080-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02eb\u02ed\u02ef-\u02ff\u055a-\u055f\u0589-\u05c6\u05f3-\u061f\u066a-\u066d\u06d4\u06dd-\u06de\u06e9\u06fd-\u06fe\u0888\u0890-\u0891\u08e2\u0964-\u0965\u0970\u09f2-\u09f3\u09fa-\u09fb\u09fd\u0bf3-\u0bfa\u0df4\u0e3f\u0e4f\u0e5a-\u0e5b\u0f01-\u0f17\u0f1a-\u0f1f\u0f34\u0f36\u0f38\u0f3a-\u0f3d\u0f85\u0fbe-\u0fc5\u0fc7-\u0fda\u104a-\u104f\u109e-\u109f\u10fb\u1360-\u1368\u1390-\u1399\u16eb-\u16ed\u1735-\u1736\u17d4-\u17d6\u17d8-\u17db\u1800-\u180a\u180e\u19de-\u19ff\u1cd3\u2010-\u212e\u213a-\u214d\u214f\u218a-\u244a\u2500-\u2775\u2794-\u2bff\u2e00-\u2e2e\u2e30-\u3004\u3008-\u3020\u3030\u3037\u303d-\u303f\u30a0\u30fb\u3190-\u3191\u31c0-\u31ef\u327f\u4dc0-\u4dff\ua6f2-\ua716\ua720-\ua721\ua789-\ua78a\ua836-\ua839\ua8f8-\ua8fa\ua8fc\ua92e-\ua92f\uaa77-\uaa79\uab5b\uab6a-\uab6b\ufbb2-\ufe46\ufff9-\ufffd\U00010100-\U00010102\U00010137-\U0001013f\U0001018c-\U000101fc\U00010ed0-\U00010ed8\U00011660-\U0001166c\U00011b00-\U00011b09\U00011fd5-\U00011fff\U00016fe2\U0001bc9f-\U0001cef0\U0001cf50-\U0001d15d\U0001d16a-\U0001d16c\U0001d173-\U0001d17a\U0001d183-\U0001d184\U0001d18c-\U0001d1a9\U0001d1ae-\U0001d241\U0001d300-\U0001d356\U0001ecac\U0001ecb0\U0001ed2e\U0001eef0-\U0001f0f5\U0001f10d-\U0001fbfa\U000e0001-\U000e007f]+', ' ', 'g');
      if t ~ '[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' then
        t := regexp_replace(t, '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)',
          ' \1 ', 'g');
      end if;
    end if;
  end if;
  return btrim(left(regexp_replace(t, '[\u0001-\u002f\u003a-\u0060\u007b-\u007f]+', ' ', 'g'), 100000));
end
$$;
comment on function reporting.folded_text(text) is 'The first 100,000 characters of a text as searches compare it, alike on every server: lower case, no accents, one space between words and around runs of scripts that write none, no punctuation.';

-- array_to_tsvector neither cuts words itself nor bounds them: 200 characters are at most 800 bytes of 2,046.
create function collab_store.words_of_folded(folded text) returns tsvector
language plpgsql immutable strict parallel safe
as $$
declare
  t text := folded;
begin
  -- 'abc' becomes 'a ab bc c'.
  if t ~ '[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' then
    t := regexp_replace(t, '([\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])', '\1 \1', 'g');
  end if;
  if length(t) > 200 then
    t := regexp_replace(t, '([^ ]{200})[^ ]+', '\1', 'g');
  end if;
  return array_to_tsvector(string_to_array(t, ' '));
end
$$;
comment on function collab_store.words_of_folded(text) is 'The words of what reporting.folded_text() made of a text.';

create function collab_store.search_words(comment_text text) returns tsvector
language plpgsql immutable strict parallel safe cost 300
as $$
begin
  return collab_store.words_of_folded(reporting.folded_text(comment_text));
end
$$;
comment on function collab_store.search_words(text) is 'The words of a text, without their positions; each two neighbouring characters in scripts without spaces. The search index is made of it.';

create type collab_store.search_terms as (indexed tsquery, whole tsquery, phrases text[], needed text[], certain text[], ranked text[]);
comment on type collab_store.search_terms is 'A query of reporting.search() as it is executed.';
comment on column collab_store.search_terms.indexed is 'Words that a match must hold: all that the index can tell.';
comment on column collab_store.search_terms.whole is 'The whole query: #1 stands for the first of phrases.';
comment on column collab_store.search_terms.phrases is 'What must stand in the folded text as it is: quotes, and more than two characters of a script without spaces.';
comment on column collab_store.search_terms.needed is 'Patterns that each match without letters beyond ASCII fits.';
comment on column collab_store.search_terms.certain is 'Patterns: a text of up to 100,000 bytes that fits them all is a match for certain. Empty where the query has none.';
comment on column collab_store.search_terms.ranked is 'What is counted for the rank.';

create function collab_store.parse_search(query text) returns collab_store.search_terms
language plpgsql immutable parallel safe
as $$
declare
  cjk constant text := '^[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]';
  terms collab_store.search_terms := (null, null, '{}', '{}', '{}', '{}');
  part record;
  words text[];
  word text;
  phrase text;
  is_prefix boolean;
  lexeme tsquery;
  indexed tsquery; -- of one word or phrase
  whole tsquery;
  all_indexed tsquery; -- since the last or
  all_whole tsquery;
  has_wanted boolean := false;
  has_any boolean := false;
  has_or boolean := false;
  has_certain boolean := true;
begin
  for part in
    select m[1] = '-' as is_excluded, m[2] is not null as is_quoted, coalesce(m[2], m[3]) as plain
    from regexp_matches(regexp_replace(translate(query, '“”„«»＂', '""""""'),
      '[\u0001-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'),
      '(-?)(?:"([^"]*)"?|([^ "]+))', 'g') m
    union all
    select false, false, null -- the end
  loop
    if part.plain is null or lower(part.plain collate "C") = 'or' and not part.is_quoted and not part.is_excluded then
      if all_whole is not null then
        if not has_wanted then
          raise invalid_parameter_value using message =
            'A search needs a word that is not excluded (in a search with or, on each side of it).';
        end if;
        terms.indexed := coalesce(terms.indexed || all_indexed, all_indexed);
        terms.whole := coalesce(terms.whole || all_whole, all_whole);
        has_or := has_or or has_any;
        has_any := true;
      end if;
      all_indexed := null;
      all_whole := null;
      has_wanted := false;
      continue;
    end if;
    phrase := reporting.folded_text(part.plain);
    continue when phrase = '';
    words := string_to_array(phrase, ' ');
    indexed := null;
    -- A number means itself: 300 does not find 3000.
    is_prefix := not part.is_quoted and words[cardinality(words)] ~ '^.{2,}[^0-9]$' and words[cardinality(words)] !~ cjk;
    for n in 1 .. cardinality(words) loop
      word := words[n];
      if word !~ cjk then
        lexeme := format(case when is_prefix and n = cardinality(words) then '''%s'':*' else '''%s''' end, left(word, 200));
        indexed := coalesce(indexed && lexeme, lexeme);
      elsif length(word) = 1 then
        lexeme := format('''%s'':*', word);
        indexed := coalesce(indexed && lexeme, lexeme);
      else
        for at in 1 .. length(word) - 1 loop
          lexeme := format('''%s''', substr(word, at, 2));
          indexed := coalesce(indexed && lexeme, lexeme);
        end loop;
      end if;
    end loop;
    whole := indexed;
    if cardinality(words) > 1 or words[1] ~ cjk and length(words[1]) > 2 then
      terms.phrases := terms.phrases || (case when phrase ~ cjk then '' else ' ' end || phrase
        || case when is_prefix or word ~ cjk then '' else ' ' end);
      whole := format('''#%s''', cardinality(terms.phrases))::tsquery;
    end if;
    has_certain := has_certain and not part.is_excluded and part.plain !~ '[%_\\]'
      and phrase ~ '^([a-z0-9\u03b1-\u03c9\u0430-\u044f ]{1,200}|[\u4e00-\u9fff]{2,})$';
    terms.certain := terms.certain || (case when phrase ~ cjk then '%' || phrase || '%'
      else '% ' || lower(part.plain collate "default") || case when is_prefix then '%' else ' %' end end);
    if part.is_excluded then
      all_whole := coalesce(all_whole && !!whole, !!whole);
      -- Without the words the phrase is not there either, with them it may be.
      all_indexed := case when whole = indexed then coalesce(all_indexed && !!indexed, !!indexed) else all_indexed end;
    else
      all_whole := coalesce(all_whole && whole, whole);
      all_indexed := coalesce(all_indexed && indexed, indexed);
      has_wanted := true;
      terms.ranked := terms.ranked || (case when phrase ~ cjk then '' else ' ' end || phrase);
      terms.needed := terms.needed || array(
        select '%' || left(w, 200) || '%' from unnest(words) w where w ~ '^[a-z0-9]+$');
    end if;
  end loop;
  if not has_any then
    raise invalid_parameter_value using message = 'A search needs a word to search for.';
  end if;
  if has_or then
    terms.needed := '{}';
  end if;
  if has_or or not has_certain then
    terms.certain := '{}';
  end if;
  return terms;
end
$$;
comment on function collab_store.parse_search(text) is 'What a query of reporting.search() asks for.';

create function collab_store.has_phrases(comment_text text, terms collab_store.search_terms) returns boolean
language plpgsql immutable parallel safe cost 400
as $$
declare
  folded constant text := reporting.folded_text(comment_text);
begin
  return collab_store.words_of_folded(folded) || array_to_tsvector(array(
    select '#' || p.n from unnest(terms.phrases) with ordinality p (phrase, n)
    where strpos(' ' || folded || ' ' collate "C", p.phrase) > 0)) @@ terms.whole;
end
$$;
comment on function collab_store.has_phrases(text, collab_store.search_terms) is 'Whether a text is what a query asks for, its phrases too.';

create function collab_store.search_rank(comment_text text, ranked text[]) returns integer
language plpgsql immutable parallel safe cost 300
as $$
declare
  folded constant text := ' ' || reporting.folded_text(comment_text) collate "C";
  found double precision := 0;
  term text;
begin
  foreach term in array ranked loop
    found := found + 1 - 1.0 / (1 + (length(folded) - length(replace(folded, term, ''))) / length(term));
  end loop;
  return round(1000000 * found / (1 + ln(length(folded))));
end
$$;
comment on function collab_store.search_rank(text, text[]) is 'How well a text fits, in millionths: each word of the query counts less the more often it stands there already, and a longer text less.';

create type reporting.search_result as (
  matches text, rank real, organization_id text, document_id text, annotation_id text, comment_id bigint, author_user_id text,
  author_name text, comment_text text, last_updated timestamptz, cursor text
);
comment on type reporting.search_result is 'One row of reporting.search().';
comment on column reporting.search_result.matches is 'How many comments match, the same in each row: a number, or ''more than 10,000''.';
comment on column reporting.search_result.rank is 'How well the text fits, from 0: the more often the words of the query stand in a short text, the higher. Null where matches is ''more than 10,000''.';
comment on column reporting.search_result.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.search_result.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.search_result.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.search_result.comment_id is 'commentId of the service, unique within its annotation.';
comment on column reporting.search_result.author_user_id is 'userId of the author.';
comment on column reporting.search_result.author_name is 'The author''s current name.';
comment on column reporting.search_result.comment_text is 'Plain text of the comment.';
comment on column reporting.search_result.last_updated is 'lastUpdated of the service (the service''s clock).';
comment on column reporting.search_result.cursor is 'Given as `after` to the same search, the results behind this one.';

-- No index on words can serve a query below a policy: the operator might tell what it compares. So the search goes round
-- the policies, with the rights of the owner, and asks itself who calls: a plan of its own for every search, because how
-- to search one organization is another matter than how to search all.
-- Of single organizations the comments are gathered before anything is compared with what the caller gave: no index may be
-- asked about others. `offset 0` keeps conditions out of a sub-select.
-- Newest first goes back in time by windows, each eight times as long as the one before: the first reads comments by
-- their time and tests each, which a common word ends at once; from then on what the index on words gives is cut with what
-- the index on times gives, before any comment is read.
create function reporting.search(query text, organization_id text default null, author_user_id text default null,
  updated_from timestamptz default null, updated_until timestamptz default null, after text default null,
  max_results integer default 50, exact boolean default false)
returns setof reporting.search_result
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
set work_mem = '64MB'
set gin_fuzzy_search_limit = 0
set enable_bitmapscan = on
set enable_indexscan = on
set enable_seqscan = on
as $$
#variable_conflict use_column
declare
  -- In a function with its owner's rights current_user is the owner.
  caller constant name := coalesce(nullif(current_setting('role', true), 'none'), session_user);
  sees_every constant boolean := collab_store.sees_every_organization(caller);
  most constant integer := 10000;
  terms constant collab_store.search_terms := collab_store.parse_search($1);
  has_phrases constant boolean := terms.phrases <> '{}';
  -- A cursor belongs to the query and filters that it was given with.
  of_search constant text := left(md5(concat_ws('/', quote_nullable($1), quote_nullable($2), quote_nullable($3),
    coalesce(extract(epoch from $4)::text, ''), coalesce(extract(epoch from $5)::text, ''), coalesce($8, false))), 8);
  key text[];
  key_rank integer;
  key_time timestamptz;
  key_annotation integer;
  key_comment bigint;
  is_newest boolean := false;
  organization_keys integer[];
  hits tid[];
  matches text;
  since timestamptz; -- the window
  until timestamptz;
  oldest timestamptz;
  span interval;
  sample integer;
  certain bigint;
begin
  if not has_table_privilege(caller, 'reporting.comments', 'select') then
    raise insufficient_privilege using message = 'permission denied for view reporting.comments';
  end if;
  max_results := coalesce($7, 50);
  exact := coalesce($8, false);
  if $7 < 1 then
    raise invalid_parameter_value using message = 'max_results is a number of comments, from 1.';
  end if;
  if $6 is not null then
    key := regexp_match($6, '^([nr])\.([0-9a-f]{8})\.([0-9]{1,9})\.(x|-?[0-9]{1,17})\.([0-9]{1,9})\.([0-9]{1,18})$');
    if key is null or key[2] <> of_search then
      raise invalid_parameter_value using message =
        'This cursor is not of this search: give the cursor of one of its rows, with the same query and filters.';
    end if;
    is_newest := key[1] = 'n';
    key_rank := key[3];
    key_time := case when key[4] = 'x' then '-infinity' else timestamptz 'epoch' + key[4]::bigint * interval '1 microsecond' end;
    key_annotation := key[5];
    key_comment := key[6];
  end if;

  if not sees_every then
    organization_keys := array(
      select g.organization_key
      from (
        select o.organization_key, o.organization_id
        from collab_store.organization_grants g
        join collab_store.organizations o using (organization_key)
        where pg_has_role(caller, to_regrole(quote_ident(g.role_name))::oid, 'usage')
        offset 0
      ) g
      where $2 is null or g.organization_id = $2);
    hits := array(
      select own.ctid
      from (
        select c.ctid, c.last_updated, c.annotation_key, c.comment_id, c.author_user_id, c.comment_text
        from collab_store.comments c
        where c.organization_key = any(organization_keys) and c.deleted_at is null
        order by coalesce(c.last_updated, '-infinity') desc, c.annotation_key desc, c.comment_id desc
        offset 0
      ) own
      where ($3 is null or own.author_user_id = $3)
        and ($4 is null or own.last_updated >= $4) and ($5 is null or own.last_updated < $5)
        and (not is_newest or (coalesce(own.last_updated, '-infinity'), own.annotation_key, own.comment_id) < (key_time, key_annotation, key_comment))
        -- Texts without the letters of a word that they must hold are not cut into words: that is most of the time.
        and (terms.needed = '{}' or octet_length(own.comment_text) <> length(own.comment_text)
          or lower(own.comment_text collate "C") like all (terms.needed))
        and case when has_phrases then collab_store.has_phrases(own.comment_text, terms)
          else collab_store.search_words(own.comment_text) @@ terms.whole end
      limit case when is_newest then $7 when $6 is null and not $8 then most + 1 end);
  else
    if to_regclass('collab_store.comments_search') is null and to_regclass('collab_store.comments_words') is not null then
      raise notice 'The search index is of an earlier version and not used: `collab-sync migrate --search-index on` makes the one of this version.';
    end if;
    if $2 is not null then
      organization_keys := array(select o.organization_key from collab_store.organizations o where o.organization_id = $2);
    end if;
    -- That a word of millions is one of more than 10,000 takes the index most of a second to say, and a look at some texts
    -- less: where it is common among the newest ones, a part of the table is read.
    if $6 is null and not $8 and terms.certain <> '{}' then
      foreach sample in array array[1000, 100000] loop
        select count(*) into certain
        from (
          select
          from (
            select c.* from (
              select * from collab_store.comments n where sample = 1000 and n.last_updated >= coalesce($4, '-infinity') and n.last_updated < coalesce($5, 'infinity') order by n.last_updated desc limit 1000
            ) c
            union all
            select c.* from (
              select * from collab_store.comments t
              where sample > 1000 and ($4 is null or t.last_updated >= $4) and ($5 is null or t.last_updated < $5) limit sample
            ) c
          ) c
          where c.deleted_at is null and c.comment_text like all (terms.certain) and octet_length(c.comment_text) <= 100000
            and ($2 is null or c.organization_key = any(organization_keys)) and ($3 is null or c.author_user_id = $3)
          limit most + 1
        ) c;
        exit when certain < 100;
      end loop;
      is_newest := certain > most;
    end if;
    if not is_newest then
      hits := array(
        select c.ctid
        from collab_store.comments c
        where c.deleted_at is null and collab_store.search_words(c.comment_text) @@ terms.indexed
          and (not has_phrases or collab_store.has_phrases(c.comment_text, terms))
          and ($2 is null or c.organization_key = any(organization_keys)) and ($3 is null or c.author_user_id = $3)
          and ($4 is null or c.last_updated >= $4) and ($5 is null or c.last_updated < $5)
        limit case when $6 is null and not $8 then most + 1 end);
    end if;
    if is_newest or $6 is null and not $8 and cardinality(hits) > most then
      hits := '{}';
      until := least(coalesce($5, 'infinity'), key_time + interval '1 microsecond');
      select min(c.last_updated) into oldest from collab_store.comments c;
      since := (select c.last_updated from collab_store.comments c where c.last_updated < until
        order by c.last_updated desc offset 1000 limit 1);
      span := greatest((select max(c.last_updated) from collab_store.comments c where c.last_updated < until) - since,
        interval '1 second');
      perform set_config('enable_bitmapscan', 'off', true);
      loop
        since := case when since > greatest(oldest, $4) then since else coalesce($4, '-infinity') end;
        hits := hits || array(
          select c.ctid
          from collab_store.comments c
          where c.last_updated >= since and c.last_updated < until and c.deleted_at is null
            and collab_store.search_words(c.comment_text) @@ terms.indexed
            and (not has_phrases or collab_store.has_phrases(c.comment_text, terms))
            and ($2 is null or c.organization_key = any(organization_keys)) and ($3 is null or c.author_user_id = $3)
            and (key_time is null or (c.last_updated, c.annotation_key, c.comment_id) < (key_time, key_annotation, key_comment))
          order by c.last_updated desc, c.annotation_key desc, c.comment_id desc
          limit $7 - cardinality(hits));
        exit when cardinality(hits) >= $7 or since = coalesce($4, '-infinity');
        until := since;
        span := span * 8;
        since := case when span < until - oldest then until - span end;
        perform set_config('enable_bitmapscan', 'on', true), set_config('enable_indexscan', 'off', true);
      end loop;
      perform set_config('enable_bitmapscan', 'on', true), set_config('enable_indexscan', 'on', true);
      -- Comments without a time are older than all others.
      if cardinality(hits) < $7 and $4 is null and $5 is null then
        hits := hits || array(
          select c.ctid
          from collab_store.comments c
          where c.last_updated is null and c.deleted_at is null
            and collab_store.search_words(c.comment_text) @@ terms.indexed
            and (not has_phrases or collab_store.has_phrases(c.comment_text, terms))
            and ($2 is null or c.organization_key = any(organization_keys)) and ($3 is null or c.author_user_id = $3)
            and (key_time is null or key_time > '-infinity' or (c.annotation_key, c.comment_id) < (key_annotation, key_comment))
          order by c.annotation_key desc, c.comment_id desc
          limit $7 - cardinality(hits));
      end if;
      is_newest := true;
    end if;
  end if;
  is_newest := is_newest or $6 is null and not $8 and cardinality(hits) > most;
  matches := case when is_newest then 'more than 10,000' else cardinality(hits)::text end;

  return query
  select matches, case when not is_newest then (f.score / 1000000.0)::real end, o.organization_id, d.document_id, a.annotation_id,
    f.comment_id, f.author_user_id, coalesce(u.name, f.author_name), f.comment_text, f.last_updated,
    concat_ws('.', case when is_newest then 'n' else 'r' end, of_search, f.score,
      coalesce((extract(epoch from f.last_updated) * 1000000)::bigint::text, 'x'), f.annotation_key, f.comment_id)
  from (
    select *
    from (
      select c.annotation_key, c.comment_id, c.author_user_id, c.author_name, c.comment_text, c.last_updated,
        coalesce(c.last_updated, '-infinity') as at,
        case when is_newest then 0 else collab_store.search_rank(c.comment_text, terms.ranked) end as score
      from collab_store.comments c
      where c.ctid = any(hits)
      offset 0
    ) c
    where $6 is null or (c.score, c.at, c.annotation_key, c.comment_id) < (key_rank, key_time, key_annotation, key_comment)
    order by c.score desc, c.at desc, c.annotation_key desc, c.comment_id desc
    limit $7
  ) f
  join collab_store.annotations a using (annotation_key)
  join collab_store.documents d using (document_key)
  join collab_store.organizations o on o.organization_key = d.organization_key
  left join collab_store.users u on u.organization_key = d.organization_key and u.user_id = f.author_user_id
  order by f.score desc, f.at desc, f.annotation_key desc, f.comment_id desc;
end
$$;
comment on function reporting.search(text, text, text, timestamptz, timestamptz, text, integer, boolean) is 'Live comments that hold the words, in any language and script, whatever their letter case and accents: of all organizations or one, of one author (author_user_id), last updated from updated_from (inclusive) until updated_until (exclusive). A word of three letters or more also matches as the beginning of a longer one; "in quotes" exactly; -without; this or that. Best first; where more than 10,000 match, newest first, unless exact => true has all of them counted and ranked. At most max_results; `after` is the cursor of the last one. Of millions of comments make the index first: collab-sync migrate --search-index on, which is: create index concurrently comments_search on collab_store.comments using gin (collab_store.search_words(comment_text)).';

-- No index on words can serve a query below a policy: the operator might tell what it compares. So the search goes round
-- the policies, with the rights of the owner, and asks itself who calls: a plan of its own for every search, because how
-- to search one organization is another matter than how to search all.
-- Of single organizations the comments are gathered before anything is compared with what the caller gave: neither the
-- index on words nor that on organizations may be asked about others. `offset 0` keeps conditions out of a sub-select.
create function reporting.search_comments(query text, organization_id text default null, max_results integer default 100)
returns setof reporting.found_comment
language sql stable
as $$
select coalesce(s.rank, 0), s.organization_id, s.document_id, s.annotation_id, s.comment_id, s.author_user_id, s.author_name,
  s.comment_text, s.last_updated
from (select where reporting.folded_text($1) <> '') asked
cross join lateral reporting.search($1, $2, max_results => coalesce($3, 1000000)) s
$$;
comment on function reporting.search_comments(text, text, integer) is 'The first max_results of reporting.search(), which also takes an author, times and a cursor, and counts. Nothing where the query has no word.';
